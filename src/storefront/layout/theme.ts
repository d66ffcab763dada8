import { hash } from 'node:crypto';
import {
  contrast,
  isDark,
  lowestContrast,
  mixed,
  mostVisible,
  READABLE,
  visible,
} from '../../kernel/colour.ts';
import { html, safe, type Markup } from '../../http/html.ts';
import { compileCss } from '../../shops/settings/custom-css.ts';
import type { Theme } from '../../shops/settings/settings.ts';
import { BUILT_IN_ACCENT, BUILT_IN_BACKGROUND } from '../../shops/settings/theme.ts';

/** The contrast that borders of fields and the mark of the focus need (WCAG 2.2, 1.4.11). */
const NOTICEABLE = 3;

/** The page's text takes the first of these colours that has a comfortable contrast. */
const BUILT_IN_TEXTS = ['#1f2729', '#f1f4f4', '#000000', '#ffffff'];
const COMFORTABLE = 7;

const STACKS: Record<NonNullable<Theme['font']>, string> = {
  sans: 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif',
  serif: '"Iowan Old Style","Palatino Linotype","URW Palladio L",P052,"Noto Serif",Georgia,serif',
  rounded:
    'ui-rounded,"SF Pro Rounded",Nunito,Quicksand,"Arial Rounded MT Bold","Hiragino Maru Gothic ProN",system-ui,sans-serif',
  mono: 'ui-monospace,"Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono",monospace',
};

/** What a theme sets of the stylesheet's custom properties; what is as usual sets none. */
const CORNERS: Record<NonNullable<Theme['corners']>, string> = {
  // With a unit, because sums are made of it.
  sharp: ';--radius:0px',
  soft: '',
  round: ';--radius:1.25rem',
};
const DENSITIES: Record<NonNullable<Theme['density']>, string> = {
  compact: ';--gap:clamp(0.75rem,0.5rem + 1vw,1.25rem)',
  normal: '',
  airy: ';--gap:clamp(1.25rem,0.6rem + 2.8vw,3.25rem)',
};

/** Text is readable on all grounds of the palette, so a header and a card may have any of them. */
const HEADERS: Record<NonNullable<Theme['header']>, string> = {
  plain: '',
  tinted: '.top{background:var(--soft)}',
  line: '.top{border-bottom:3px solid var(--accent)}',
};
const CARDS: Record<NonNullable<Theme['cards']>, string> = {
  plain: '',
  framed: '.card{padding:.75rem;border:1px solid var(--line);border-radius:var(--radius)}',
  raised:
    '.card{padding:.75rem;border-radius:var(--radius);background:var(--surface);box-shadow:0 .25rem 1rem -.25rem rgb(0 0 0/25%)}',
};

/** The colours of the stylesheet's custom properties. */
export type Palette = ReturnType<typeof palette>;

/** All colours are derived from the few that a shop sets, with sufficient contrast. */
export function palette({ accent = BUILT_IN_ACCENT, background = BUILT_IN_BACKGROUND, text }: Theme) {
  const ink = text ?? textOn(background);
  /** Moves the background towards a colour, as long as the text stays readable on it. */
  const tinted = (colour: string, share: number) =>
    [share, share / 2, share / 4, 0]
      .map((part) => mixed(background, colour, part))
      .find((ground) => contrast(ink, ground) >= READABLE) ?? background;
  const surface = tinted(ink, 0.04);
  const soft = tinted(accent, 0.1);
  const grounds = [background, surface, soft];
  const onAccent = mostVisible(['#ffffff', '#000000'], [accent]);
  return {
    background,
    text: ink,
    /** Secondary text. */
    muted:
      [0.3, 0.2, 0.1]
        .map((share) => mixed(ink, background, share))
        .find((colour) => lowestContrast(colour, grounds) >= READABLE) ?? ink,
    surface,
    soft,
    /** Lines only divide, so they need no contrast. */
    line: mixed(background, ink, 0.14),
    /** The borders of fields. */
    border: visible(mixed(background, ink, 0.5), grounds, NOTICEABLE),
    accent,
    'on-accent': onAccent,
    /** Moves away from the colour of the text on it, so that the contrast grows. */
    'accent-hover': mixed(accent, onAccent === '#ffffff' ? '#000000' : '#ffffff', 0.18),
    /** Links, the focus mark, and the borders of selected things. */
    link: visible(accent, grounds, READABLE),
    danger: visible('#b3261e', grounds, READABLE),
    good: visible('#1d6b3a', grounds, READABLE),
  };
}

function textOn(background: string): string {
  return (
    BUILT_IN_TEXTS.find((colour) => contrast(colour, background) >= COMFORTABLE) ??
    mostVisible(BUILT_IN_TEXTS, [background])
  );
}

/** The stylesheet with a shop's own values. */
export interface Style {
  palette: Palette;
  /** The policy of the page contains the hash of exactly these characters, so no formatter may change them. */
  element: Markup;
  hash: string;
  /** The rules that the shop writes itself, which pages load as a file. */
  own: { css: string; version: string } | undefined;
}

export function toStyle(theme: Theme): Style {
  const colours = palette(theme);
  const text = styleText(colours, theme);
  return {
    palette: colours,
    element: safe(`<style>${text}</style>`),
    hash: `'sha256-${hash('sha256', text, 'base64')}'`,
    own: ownStyle(theme),
  };
}

/** Rules that are not possible are not sent, whatever is stored. */
function ownStyle({ css: source }: Theme): Style['own'] {
  const compiled = compileCss(source ?? '');
  if ('problem' in compiled || compiled.css === '') return undefined;
  const { css } = compiled;
  return { css, version: hash('sha256', css, 'base64url').slice(0, 16) };
}

function styleText(colours: Palette, theme: Theme): string {
  const {
    font = 'sans',
    fontUrl,
    corners = 'soft',
    density = 'normal',
    header = 'plain',
    cards = 'plain',
  } = theme;
  const values = Object.entries(colours).map(([name, colour]) => `--${name}:${colour}`);
  const own = fontUrl === undefined ? '' : 'shop,';
  const face =
    fontUrl === undefined
      ? ''
      : `@font-face{font-family:shop;src:url("${fontUrl}") format("woff2");font-weight:100 900;font-display:swap}`;
  const scheme = isDark(colours.background) ? 'dark' : 'light';
  return `${face}:root{color-scheme:${scheme};${values.join(';')};--font:${own}${STACKS[font]}${CORNERS[corners]}${DENSITIES[density]}}${HEADERS[header]}${CARDS[cards]}`;
}

/** The font source of the Content-Security-Policy: the shop's own file, and nothing else. */
export function fontSource({ fontUrl }: Theme, pageOrigin: string): string {
  if (fontUrl === undefined) return "'none'";
  const [address] = fontUrl.split('?');
  return address!.startsWith('/') ? pageOrigin + address! : address!;
}

/** The icon of a shop without a logo is its first letter on its colour. */
export function letterIcon({ accent, 'on-accent': onAccent }: Palette, name: string): string {
  const [letter] = new Intl.Segmenter().segment(name.trim().toUpperCase());
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
    <rect width="64" height="64" rx="14" fill="${accent}" />
    <g font-family="sans-serif" font-size="40" font-weight="700" text-anchor="middle" fill="${onAccent}">
      <text x="32" y="46">${letter?.segment}</text>
    </g>
  </svg>`;
  return `data:image/svg+xml,${encodeURIComponent(picture.text)}`;
}
