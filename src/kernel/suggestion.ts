/** `, did you mean rates?`, or nothing when no word is near. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? '' : `, did you mean ${near}?`;
}

/** The known word that differs least, if at most a third of its letters differ. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const near = known
    .map((name) => ({ name, distance: editDistance(word.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(name.length / 3)))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return near?.name;
}

/** Number of letters to add, drop, change or swap with a neighbour, to get from one word to the other. */
export function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      line[column] = Math.min(
        line[column - 1]! + 1,
        above[column]! + 1,
        above[column - 1]! + (same ? 0 : 1),
        swapped ? before[column - 2]! + 1 : Infinity,
      );
    }
    before = above;
    above = line;
  }
  return above[to.length]!;
}
