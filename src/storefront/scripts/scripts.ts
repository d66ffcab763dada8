import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { PAGE_TOOLS_SCRIPT, SCRIPT } from '../layout/assets.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { fontSource } from '../layout/theme.ts';
import type { Visit } from '../visit.ts';
import { hasPageTools } from './page-tools.ts';
import { NO_SCRIPTS, type PageScripts } from './app-scripts.ts';

/** The scripts that this visitor's pages load: those of all apps only after consent. */
function scriptsOf({ layout, loadsScripts, session }: Visit): PageScripts {
  if (!loadsScripts) return NO_SCRIPTS;
  return session.consent === 'all' ? layout.scripts : layout.necessaryScripts;
}

/** Whether a script can listen on some visitor's page: shared content must not depend on a single visitor. */
export function mayHaveListeners({ layout, loadsScripts }: Visit): boolean {
  return loadsScripts && layout.scripts.tags.length > 0;
}

/** Whether a script on the page of this visitor can listen to its events. */
export function hasListeners(visit: Visit): boolean {
  return scriptsOf(visit).tags.length > 0;
}

const workerPath = ({ base }: Visit) => `${base}/worker.js`;

/** The scripts of apps. Their service workers are one, which our own script registers. */
export function scriptTags(visit: Visit): Markup {
  const { tags, serviceWorkers } = scriptsOf(visit);
  return html`${serviceWorkers.length > 0 && html`<meta name="worker" content="${workerPath(visit)}" />`}${tags}`;
}

/** Allows exactly our own script and those of the apps, and nothing inline but the theme. */
export function contentSecurityPolicy(visit: Visit, page: Page): string {
  const { settings, layout, pageOrigin } = visit;
  const { script, frames = [], framedBy = "'none'" } = page;
  const { sources, serviceWorkers, origins } = scriptsOf(visit);
  return [
    "default-src 'none'",
    [
      'script-src',
      pageOrigin + SCRIPT.path,
      ...(script === undefined ? [] : [pageOrigin + script]),
      ...(hasPageTools(visit, page) ? [pageOrigin + PAGE_TOOLS_SCRIPT.path] : []),
      ...sources,
    ].join(' '),
    `style-src 'self' ${layout.style.hash}`,
    "img-src 'self' data: https:",
    `font-src ${fontSource(settings.theme, pageOrigin)}`,
    ['connect-src', "'self'", ...origins].join(' '),
    origins.length + frames.length === 0
      ? "frame-src 'none'"
      : ['frame-src', ...origins, ...frames].join(' '),
    `worker-src ${serviceWorkers.length === 0 ? "'none'" : pageOrigin + workerPath(visit)}`,
    "form-action 'self'",
    "base-uri 'none'",
    `frame-ancestors ${framedBy}`,
  ].join('; ');
}

const UNREGISTER = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', () => self.registration.unregister());
`;

/**
 * A service worker must come from the host of the pages it serves, and a page has one only, so ours loads those of all
 * apps. A failing one does not affect the others.
 */
export function serviceWorker(pages: Pages): void {
  pages.file(
    '/worker.js',
    async (visit) => {
      const { serviceWorkers, serviceWorkerSources } = scriptsOf(visit);
      // It was registered when this host had only one shop, and could now read the pages of the others, or when the
      // visitor allowed it. Browsers check for a newer version bypassing the worker, so it can't prevent this.
      const isRefused = serviceWorkers.length === 0 && visit.layout.scripts.serviceWorkers.length > 0;
      if (!visit.loadsScripts || isRefused) return { type: SCRIPT.type, content: UNREGISTER };
      if (serviceWorkers.length === 0) throw notFound();
      return {
        type: SCRIPT.type,
        content: serviceWorkers
          .map(
            (url) => `try { importScripts(${JSON.stringify(url)}); } catch (error) { reportError(error); }\n`,
          )
          .join(''),
        // Requests that a worker makes for a page fall under the worker's policy, not under the page's.
        headers: {
          'content-security-policy': `default-src 'none'; script-src ${serviceWorkerSources.join(' ')}; connect-src 'self' https:`,
        },
      };
    },
    { movesWithShop: false },
  );
}
