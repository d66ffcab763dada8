import { hash } from 'node:crypto';
import {
  contrast,
  isDark,
  leastContrast,
  mixed,
  mostVisible,
  READABLE,
  visible,
} from '../../kernel/colour.ts';
import { html, safe, type Markup } from '../../http/html.ts';
import type { Settings, Theme } from '../../shops/settings/settings.ts';
import { BUILT_IN_BACKGROUND } from '../../shops/settings/theme.ts';
import type { Visit } from '../visit.ts';

/** Seen well enough for borders of fields and for what shows the focus (WCAG 2.2, 1.4.11). */
const NOTICEABLE = 3;

const BUILT_IN_ACCENT = '#0b5d66';
/** Of the page's text: the first that reads with ease. */
const BUILT_IN_TEXTS = ['#1f2729', '#f1f4f4', '#000000', '#ffffff'];
const WITH_EASE = 7;

const STACKS: Record<NonNullable<Theme['font']>, string> = {
  sans: 'system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue","Noto Sans",Arial,sans-serif',
  serif: '"Iowan Old Style","Palatino Linotype","URW Palladio L",P052,"Noto Serif",Georgia,serif',
  rounded:
    'ui-rounded,"SF Pro Rounded",Nunito,Quicksand,"Arial Rounded MT Bold","Hiragino Maru Gothic ProN",system-ui,sans-serif',
  mono: 'ui-monospace,"Cascadia Code",Menlo,Consolas,"DejaVu Sans Mono",monospace',
};

/** The custom properties of the stylesheet. */
export type Palette = ReturnType<typeof palette>;

/** Everything that is coloured, made from the few colours that a shop sets, so that all of it can be seen. */
export function palette({ accent = BUILT_IN_ACCENT, background = BUILT_IN_BACKGROUND, text }: Theme) {
  const ink = text ?? textOn(background);
  /** A ground a little apart from the page's, as far as the text still reads on it. */
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
        .find((colour) => leastContrast(colour, grounds) >= READABLE) ?? ink,
    surface,
    soft,
    /** Divides, and tells nothing. */
    line: mixed(background, ink, 0.14),
    /** Around fields. */
    border: visible(mixed(background, ink, 0.5), grounds, NOTICEABLE),
    accent,
    'on-accent': onAccent,
    /** Away from the text that stands on it. */
    'accent-hover': mixed(accent, onAccent === '#ffffff' ? '#000000' : '#ffffff', 0.18),
    /** Links, focus and the borders of chosen things. */
    link: visible(accent, grounds, READABLE),
    danger: visible('#b3261e', grounds, READABLE),
    good: visible('#1d6b3a', grounds, READABLE),
  };
}

function textOn(background: string): string {
  return (
    BUILT_IN_TEXTS.find((colour) => contrast(colour, background) >= WITH_EASE) ??
    mostVisible(BUILT_IN_TEXTS, [background])
  );
}

interface Look {
  colours: Palette;
  style: string;
  hash: string;
}

const looks = new WeakMap<Settings, Look>();

function lookOf(settings: Settings): Look {
  let look = looks.get(settings);
  if (!look) {
    const colours = palette(settings.theme);
    const style = styleOf(colours, settings.theme);
    look = { colours, style, hash: `'sha256-${hash('sha256', style, 'base64')}'` };
    looks.set(settings, look);
  }
  return look;
}

function styleOf(colours: Palette, { font = 'sans', fontUrl }: Theme): string {
  const values = Object.entries(colours).map(([name, colour]) => `--${name}:${colour}`);
  const own = fontUrl === undefined ? '' : 'shop,';
  const face =
    fontUrl === undefined
      ? ''
      : `@font-face{font-family:shop;src:url("${fontUrl}") format("woff2");font-weight:100 900;font-display:swap}`;
  const scheme = isDark(colours.background) ? 'dark' : 'light';
  return `${face}:root{color-scheme:${scheme};${values.join(';')};--font:${own}${STACKS[font]}}`;
}

/** The shop's own values of the stylesheet's custom properties. */
export function themeStyle({ settings }: Pick<Visit, 'settings'>): Markup {
  // The policy knows these very characters, so no formatter may move them.
  return html`${safe(`<style>${lookOf(settings).style}</style>`)}`;
}

/** What the Content-Security-Policy knows it by. */
export function themeHash(settings: Settings): string {
  return lookOf(settings).hash;
}

/** Where the Content-Security-Policy lets fonts come from: the shop's own file, and nothing else. */
export function fontSource({ settings, pageOrigin }: Pick<Visit, 'settings' | 'pageOrigin'>): string {
  const { fontUrl } = settings.theme;
  if (fontUrl === undefined) return "'none'";
  const [address] = fontUrl.split('?');
  return address!.startsWith('/') ? pageOrigin + address! : address!;
}

/** The colour that browsers paint around the page. */
export function backgroundOf(settings: Settings): string {
  return lookOf(settings).colours.background;
}

/** For a shop without a logo: its first letter on its colour. */
export function letterIcon(settings: Settings, name: string): string {
  const { accent, 'on-accent': onAccent } = lookOf(settings).colours;
  const [letter] = new Intl.Segmenter().segment(name.trim().toUpperCase());
  const picture = html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">
    <rect width="64" height="64" rx="14" fill="${accent}" />
    <g font-family="sans-serif" font-size="40" font-weight="700" text-anchor="middle" fill="${onAccent}">
      <text x="32" y="46">${letter?.segment}</text>
    </g>
  </svg>`;
  return `data:image/svg+xml,${encodeURIComponent(picture.text)}`;
}
