import { keyText, type AddressKey } from './address.ts';

/** A redirect to be written. Only one to an address can lead to another redirect: pages of things always exist. */
export interface PlannedRedirect {
  source: AddressKey;
  /** The sources that its target would find; none: it leads elsewhere, or to a product or category. */
  finds: readonly string[];
}

export type ChainProblem = 'loop' | 'chain';

/** The other redirects of a shop, as far as they could meet the planned ones. */
export interface KnownRedirects {
  /** Whether one of these is the source of a redirect: the text of a key. */
  isSource: (key: string) => boolean;
  /** Whether a redirect leads to an address that finds this source. */
  isTarget: (source: AddressKey) => boolean;
}

/**
 * Why a redirect can't be added: browsers follow a chain slowly and a loop not at all, and search engines give up on
 * both. undefined: it can.
 */
export function chainProblem(
  { source, finds }: PlannedRedirect,
  { isSource, isTarget }: KnownRedirects,
): ChainProblem | undefined {
  if (finds.includes(keyText(source))) return 'loop';
  if (finds.some(isSource)) return 'chain';
  return isTarget(source) ? 'chain' : undefined;
}

/** The redirects that are added one after the other, for a file of them. */
export function chainCheck(known: KnownRedirects): (planned: PlannedRedirect) => ChainProblem | undefined {
  const sources = new Set<string>();
  /** The texts of all sources that the accepted targets would find. */
  const found = new Set<string>();
  return (planned) => {
    const problem = chainProblem(planned, {
      isSource: (key) => sources.has(key) || known.isSource(key),
      isTarget: (source) => found.has(keyText(source)) || known.isTarget(source),
    });
    if (problem !== undefined) return problem;
    sources.add(keyText(planned.source));
    for (const key of planned.finds) found.add(key);
    return undefined;
  };
}
