import { html, type Markup } from '../../http/html.ts';
import { PAGE_TOOLS_SCRIPT } from '../layout/assets.ts';
import type { Page } from '../page.ts';
import { shopPath, type Visit } from '../visit.ts';

type ToolPage = Pick<Page, 'header' | 'hasSecretAddress' | 'hasPersonalData' | 'framedBy'>;

/**
 * Whether the assistant in the visitor's browser gets tools on this page (WebMCP): where visitors look around, and never
 * in the checkout, which has a header of its own, or where data of a person is shown.
 */
export function hasPageTools({ settings, access }: Visit, page: ToolPage): boolean {
  const { header, hasSecretAddress = false, hasPersonalData = false, framedBy } = page;
  if (!settings.assistants.pageTools || access !== 'public') return false;
  return header === undefined && !hasSecretAddress && !hasPersonalData && framedBy === undefined;
}

export function pageToolsTag(visit: Visit, page: ToolPage): Markup | false {
  return (
    hasPageTools(visit, page) &&
    html`<script
      src="${PAGE_TOOLS_SCRIPT.path}"
      data-search="${shopPath(visit, '/suggest')}"
      data-checkout="${shopPath(visit, '/checkout')}"
      defer
    ></script>`
  );
}
