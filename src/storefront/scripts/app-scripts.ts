import { html, type Markup } from '../../http/html.ts';
import { scriptType } from '../../apps/script-tags/script-type.ts';

/** The scripts of a shop's apps, as used in pages and their policy. */
export interface PageScripts {
  tags: Markup[];
  serviceWorkers: string[];
  /** The Content-Security-Policy names addresses without their query. */
  sources: string[];
  serviceWorkerSources: string[];
  origins: string[];
}

export const NO_SCRIPTS: PageScripts = {
  tags: [],
  serviceWorkers: [],
  sources: [],
  serviceWorkerSources: [],
  origins: [],
};

/** Other characters have a meaning in a policy: a star is all hosts, a semicolon ends the directive. */
const PLAIN_HOST = /^[a-z0-9.-]+(:\d+)?$/;

export function toAppScripts(urls: readonly string[]): PageScripts {
  const allowed = urls.filter((url) => PLAIN_HOST.test(new URL(url).host));
  const pageScripts = allowed.filter((url) => scriptType(url) === 'NORMAL');
  const serviceWorkers = allowed.filter((url) => scriptType(url) === 'SERVICE_WORKER');
  return {
    tags: pageScripts.map((url) => html`<script src="${url}" defer></script>`),
    serviceWorkers,
    sources: pageScripts.map(policySource),
    serviceWorkerSources: serviceWorkers.map(policySource),
    origins: [...new Set(allowed.map((url) => new URL(url).origin))],
  };
}

function policySource(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replaceAll(';', '%3B').replaceAll(',', '%2C');
}
