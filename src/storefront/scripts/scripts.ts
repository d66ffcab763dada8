import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { SCRIPT } from '../layout/assets.ts';
import type { Frame } from '../frame.ts';
import type { Pages } from '../page-registration.ts';
import { fontSource, themeHash } from '../layout/theme.ts';
import type { Visit } from '../visit.ts';

/** The scripts of the apps of a shop, as pages and the policy name them. */
interface Scripts {
  tags: Markup[];
  workers: string[];
  /** Of the Content-Security-Policy: addresses without their query. */
  sources: string[];
  workerSources: string[];
  hosts: string[];
}

/** In a policy any other character would mean something: a star all hosts, a semicolon the end. */
const NAMED_HOST = /^[a-z0-9.-]+(:\d+)?$/;

const NO_SCRIPTS: Scripts = { tags: [], workers: [], sources: [], workerSources: [], hosts: [] };

const known = new WeakMap<Frame, Scripts>();

/** A frame does not change, so what follows from it is found out once. */
function scriptsOf({ frame, loadsScripts }: Visit): Scripts {
  if (!loadsScripts) return NO_SCRIPTS;
  let scripts = known.get(frame);
  if (!scripts) {
    const named = frame.scripts.filter(({ url }) => NAMED_HOST.test(new URL(url).host));
    const urlsOf = (wanted: (typeof named)[number]['type']) =>
      named.filter(({ type }) => type === wanted).map(({ url }) => url);
    const pageScripts = urlsOf('NORMAL');
    const workers = urlsOf('SERVICE_WORKER');
    scripts = {
      tags: pageScripts.map((url) => html`<script src="${url}" defer></script>`),
      workers,
      sources: pageScripts.map(sourceOf),
      workerSources: workers.map(sourceOf),
      hosts: [...new Set(named.map(({ url }) => new URL(url).origin))],
    };
    known.set(frame, scripts);
  }
  return scripts;
}

function sourceOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
}

/** Whether there is anybody to tell what happens on a page. */
export function hasListeners(visit: Visit): boolean {
  return scriptsOf(visit).tags.length > 0;
}

const workerPath = ({ base }: Visit) => `${base}/worker.js`;

/** The scripts of apps. Their service workers are one, which our own script registers. */
export function scriptTags(visit: Visit): Markup {
  const { tags, workers } = scriptsOf(visit);
  return html`${workers.length > 0 && html`<meta name="worker" content="${workerPath(visit)}" />`}${tags}`;
}

/** Exactly the scripts of the apps beside our own; nothing inline but the theme. */
export function policyOf(visit: Visit): string {
  const { settings, pageOrigin } = visit;
  const { sources, workers, hosts } = scriptsOf(visit);
  return [
    "default-src 'none'",
    ['script-src', pageOrigin + SCRIPT.path, ...sources].join(' '),
    `style-src 'self' ${themeHash(settings)}`,
    "img-src 'self' data: https:",
    `font-src ${fontSource(visit)}`,
    ['connect-src', "'self'", ...hosts].join(' '),
    hosts.length === 0 ? "frame-src 'none'" : ['frame-src', ...hosts].join(' '),
    `worker-src ${workers.length === 0 ? "'none'" : pageOrigin + workerPath(visit)}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const UNREGISTER = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', () => self.registration.unregister());
`;

/**
 * A service worker must come from the host of the pages it serves, and a page has one only: ours loads those of all
 * apps. One that fails does not take the others with it.
 */
export function worker(pages: Pages): void {
  pages.file(
    '/worker.js',
    async (visit) => {
      const { workers, workerSources } = scriptsOf(visit);
      // It was registered when this host had one shop only, and could read the pages of the others now. Browsers ask
      // for a newer version past the worker itself, so it can't keep this from happening.
      if (!visit.loadsScripts) return { type: SCRIPT.type, content: UNREGISTER };
      if (workers.length === 0) throw notFound();
      return {
        type: SCRIPT.type,
        content: workers
          .map(
            (url) => `try { importScripts(${JSON.stringify(url)}); } catch (error) { reportError(error); }\n`,
          )
          .join(''),
        // What a worker fetches for a page falls under the worker's policy, not under the page's.
        headers: {
          'content-security-policy': `default-src 'none'; script-src ${workerSources.join(' ')}; connect-src 'self' https:`,
        },
      };
    },
    { movesWithShop: false },
  );
}
