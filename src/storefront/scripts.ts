import { html, type Markup } from '../http/html.ts';
import { SCRIPT } from './assets.ts';
import { themeHash } from './theme.ts';
import type { Visit } from './visit.ts';

/** The scripts of apps; service workers are registered by our own script. */
export function scriptTags({ frame }: Visit): Markup[] {
  return frame.scripts.flatMap(({ url, type }) =>
    type === 'NORMAL' ? [html`<script src="${url}" defer></script>`] : [],
  );
}

/** Exactly the scripts of the apps beside our own; nothing inline but the theme. */
export function policyOf({ frame, settings, origin }: Visit): string {
  const urls = frame.scripts.map(({ url }) => new URL(url));
  const scripts = urls.map(({ origin, pathname }) =>
    `${origin}${pathname}`.replaceAll(';', '%3B').replaceAll(',', '%2C'),
  );
  const hosts = [...new Set(urls.map((url) => url.origin))];
  return [
    "default-src 'none'",
    ['script-src', `${origin}${SCRIPT.path}`, ...scripts].join(' '),
    `style-src 'self' ${themeHash(settings)}`,
    "img-src 'self' data: https:",
    "font-src 'self' https:",
    ['connect-src', "'self'", ...hosts].join(' '),
    hosts.length === 0 ? "frame-src 'none'" : ['frame-src', ...hosts].join(' '),
    "worker-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
