/* Text from a model or a peer, made safe to look at.
 *
 * React escapes markup. What is left are characters that deceive the eye: bidirectional overrides and
 * isolates turn a file name or an amount around, invisible ones hide text, controls break lines up. */

const REORDERING = /[\u202A-\u202E\u2066-\u2069]/g;
/** Pictures that are joined to one picture; the joiner in them hides nothing. */
const JOINED = /\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*(?:\u200D\p{Extended_Pictographic}[\uFE0F\u{1F3FB}-\u{1F3FF}]*)+/u;
const DECEIVING =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFE00-\uFE0E\uFEFF\uFFF9-\uFFFC]|[\u{E0000}-\u{E0FFF}]/gu;

function named(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

/** Prose: only what changes the order of characters is named; marks that right-to-left scripts need stay. */
export function prose(text: string): string {
  return text.replace(REORDERING, named);
}

const EXACT = new RegExp(`${JOINED.source}|${DECEIVING.source}`, 'gu');

/** Names, arguments and other text that people decide by: everything that cannot be seen is named. */
export function exact(text: string): string {
  return text.replace(EXACT, (found) => (JOINED.test(found) ? found : named(found)));
}

/** At most `limit` characters of a text, never half a surrogate pair. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = /[\uD800-\uDBFF]/.test(text[limit - 1] ?? '') ? limit - 1 : limit;
  return `${text.slice(0, end)}…`;
}

/** One line of `exact` text for places with little room. */
export function label(text: string, limit = 80): string {
  return exact(clip(text.replace(/\s+/g, ' ').trim(), limit));
}
