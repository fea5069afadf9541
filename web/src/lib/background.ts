/* A background that an agent asks for. Only colors and gradients: nothing that a browser would load. */

const LOADS = /url|image|element|paint|cross-fade|var\(|env\(|attr\(|[\\;{}"'<>@]/i;
const SHAPE = /^(?:#[0-9a-f]{3,8}|[a-z]{3,30}|(?:(?:repeating-)?(?:linear|radial|conic)-gradient|rgba?|hsla?|hwb|lab|lch|oklab|oklch|color-mix)\([a-z0-9#%.,()\s/+-]*\))$/i;

export function backgroundOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const background = value.trim();
  if (background.length > 500 || LOADS.test(background) || !SHAPE.test(background)) return undefined;
  if (/^(?:inherit|initial|unset|revert|none)$/i.test(background)) return undefined;
  return background;
}
