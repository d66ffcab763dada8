import type { Product } from '../../catalogue/products/schema.ts';
import { toOption } from './product.ts';

/** The choice among the variations of a product, as an assistant leads its buyer through it. */

export interface SelectedOption {
  name: string;
  id?: string;
  label: string;
}

export interface OptionValue {
  id: string;
  label: string;
  available: boolean;
  exists: boolean;
}

export interface Choice {
  selected: Required<SelectedOption>[];
  options: { name: string; values: OptionValue[] }[];
  /** The variations that have what is selected, the best one first. */
  variants: Product[];
}

/** A variation with its values, by the shown names of the options. */
interface Candidate {
  product: Product;
  values: ReadonlyMap<string, Required<SelectedOption>>;
}

/**
 * What of the selection is possible: when no variation has all of it, options are dropped, those that matter least
 * first. Without a selection, that of the best variation counts.
 */
export function choose(
  variations: readonly Product[],
  best: Product,
  asked: readonly SelectedOption[] | undefined,
  preferences: readonly string[],
  isAvailable: (product: Product) => boolean,
): Choice {
  const candidates = variations.map(toCandidate);
  const ofBest = toCandidate(best);
  const selected =
    asked === undefined ? [...ofBest.values.values()] : possibleSelection(candidates, asked, preferences);
  const matching = candidates.filter((candidate) => selected.every((one) => hasOption(candidate, one)));
  const isBest = ({ product }: Candidate) => Number(product.productId === best.productId);
  const rank = (candidate: Candidate) => 2 * isBest(candidate) + Number(isAvailable(candidate.product));
  return {
    selected,
    options: optionsOf(candidates, selected, isAvailable),
    variants: matching.toSorted((one, other) => rank(other) - rank(one)).map(({ product }) => product),
  };
}

function toCandidate(product: Product): Candidate {
  const values = (product.productVariationSelection ?? []).map(toOption);
  return { product, values: new Map(values.map((value) => [value.name, value])) };
}

/** By the id of the value where it is given, else by its label. */
function hasOption({ values }: Candidate, { name, id, label }: SelectedOption): boolean {
  const value = values.get(name);
  return value !== undefined && (id === undefined ? value.label === label : value.id === id);
}

function possibleSelection(
  candidates: readonly Candidate[],
  asked: readonly SelectedOption[],
  preferences: readonly string[],
): Required<SelectedOption>[] {
  const importance = ({ name }: SelectedOption) => {
    const place = preferences.indexOf(name);
    return place === -1 ? preferences.length : place;
  };
  const distinct = [...new Map(asked.map((one) => [one.name, one])).values()];
  const ordered = distinct.toSorted((one, other) => importance(one) - importance(other));
  for (let count = ordered.length; count > 0; count--) {
    const kept = ordered.slice(0, count);
    const match = candidates.find((candidate) => kept.every((one) => hasOption(candidate, one)));
    if (match) return kept.map(({ name }) => match.values.get(name)!);
  }
  return [];
}

/** Each value with whether a variation has it together with the other selected options, and can be bought. */
function optionsOf(
  candidates: readonly Candidate[],
  selected: readonly Required<SelectedOption>[],
  isAvailable: (product: Product) => boolean,
): Choice['options'] {
  const names = [...new Set(candidates.flatMap(({ values }) => [...values.keys()]))];
  return names.map((name) => {
    const others = selected.filter((one) => one.name !== name);
    const having = candidates.filter((candidate) => others.every((one) => hasOption(candidate, one)));
    const values = new Map(
      candidates.flatMap((candidate) => {
        const value = candidate.values.get(name);
        return value ? [[value.id, value] as const] : [];
      }),
    );
    return {
      name,
      values: [...values.values()].map(({ id, label }) => {
        const matching = having.filter((candidate) => candidate.values.get(name)?.id === id);
        return {
          id,
          label,
          available: matching.some(({ product }) => isAvailable(product)),
          exists: matching.length > 0,
        };
      }),
    };
  });
}
