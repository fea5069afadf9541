/* Icons, drawn in place: nothing is loaded for them. */

const PATHS = {
  sidebar: 'M3 5h14v10H3zM8 5v10',
  inspector: 'M3 5h14v10H3zM12 5v10',
  chevron: 'M6 8l4 4 4-4',
  sun: 'M10 6.5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1',
  moon: 'M16.5 11.7A7 7 0 018.3 3.5a7 7 0 108.2 8.2z',
  plus: 'M10 4v12M4 10h12',
  search: 'M9 4a5 5 0 100 10A5 5 0 009 4zM12.7 12.7L16.5 16.5',
  pencil: 'M4 16l.8-3.2L13.2 4.4a1.4 1.4 0 012 0l.4.4a1.4 1.4 0 010 2L7.2 15.2z',
  trash: 'M4 6h12M8 6V4h4v2M5.5 6l.8 10h7.4l.8-10',
  up: 'M10 16V4.5M5 9l5-5 5 5',
  down: 'M10 4v11.5M5 11l5 5 5-5',
  stop: 'M6 6h8v8H6z',
  check: 'M4.5 10.5l3.5 3.5 7.5-8',
  cross: 'M5 5l10 10M15 5L5 15',
  copy: 'M7 7h9v9H7zM4 13V4h9',
  tool: 'M12.5 3.5a4 4 0 00-3.7 5.5L3.5 14.3a1.6 1.6 0 002.2 2.2L11 11.2a4 4 0 005.2-5.3l-2.4 2.4-2-.1-.1-2z',
  lock: 'M5 9h10v7H5zM7 9V6.5a3 3 0 016 0V9',
  clock: 'M10 3a7 7 0 100 14 7 7 0 000-14zM10 6v4l2.5 2',
  alert: 'M10 3.5L17.5 16h-15zM10 8v4M10 13.8v.2',
  retry: 'M15.5 8A6 6 0 104 10.5M15.8 4v4h-4',
  mark: 'M4.5 13c0-4 2.2-6.8 6-6.8M15.5 7c0 4-2.2 6.8-6 6.8',
  hand: 'M6.5 10V5.5a1.2 1.2 0 012.4 0V9V4.2a1.2 1.2 0 012.4 0V9V5.2a1.2 1.2 0 012.4 0V11c0 3.5-1.6 5.5-4.3 5.5-2.3 0-3.2-1-5-4.2-.6-1 1-2 2-.8z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="svg" viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
