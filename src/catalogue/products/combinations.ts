/** The dimensions of a master's variations: attributes, each with its values in order. */
export interface Dimension {
  key: string;
  values: string[];
}

export type Selection = Readonly<Record<string, string>>;

/**
 * The selected value of an attribute. Merchants choose attribute names freely: every object seems to have a value for
 * one called `constructor`, which is not theirs.
 */
export function selectedValue(selection: Selection | null | undefined, key: string): string | undefined {
  return selection && Object.hasOwn(selection, key) ? selection[key] : undefined;
}

/** Requested dimensions merged into the existing ones: new attributes and new values come last. */
export function mergedDimensions(
  existing: readonly Dimension[],
  requested: readonly Dimension[],
): Dimension[] {
  const merged = existing.map(({ key, values }) => ({ key, values: [...values] }));
  for (const { key, values } of requested) {
    let dimension = merged.find((one) => one.key === key);
    if (!dimension) merged.push((dimension = { key, values: [] }));
    for (const value of values) if (!dimension.values.includes(value)) dimension.values.push(value);
  }
  return merged;
}

export function countCombinations(dimensions: readonly Dimension[]): number {
  return dimensions.reduce((count, { values }) => count * values.length, 1);
}

/** Every combination of values, the last dimension moving fastest. */
export function combinations(dimensions: readonly Dimension[]): Selection[] {
  return dimensions.reduce<Selection[]>(
    (selections, { key, values }) =>
      selections.flatMap((selection) => values.map((value) => ({ ...selection, [key]: value }))),
    [{}],
  );
}

/** Two selections with the same text are the same, whatever the order of their keys. */
export function selectionText(selection: Selection): string {
  return JSON.stringify(Object.entries(selection).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
