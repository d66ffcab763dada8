import type { TreeRow } from './queries.ts';

export interface TreeNode extends TreeRow {
  children: readonly TreeNode[];
}

/** The roots of the tree; usually there is one. */
export function treeOf(rows: readonly TreeRow[], parentId: string | null = null): readonly TreeNode[] {
  const childrenOf = new Map<string | null, TreeRow[]>();
  for (const row of rows) {
    const siblings = childrenOf.get(row.parentId);
    if (siblings) siblings.push(row);
    else childrenOf.set(row.parentId, [row]);
  }
  const build = (id: string | null): readonly TreeNode[] =>
    (childrenOf.get(id) ?? []).map((row) => ({ ...row, children: build(row.categoryId) }));
  return build(parentId);
}

/** The ids of a category and its ancestors. */
export function wayTo(rows: readonly TreeRow[], categoryId: string | undefined): string[] {
  const parentOf = new Map(rows.map((row) => [row.categoryId, row.parentId]));
  const way: string[] = [];
  for (
    let id: string | null | undefined = categoryId;
    id != null && parentOf.has(id);
    id = parentOf.get(id)
  ) {
    way.push(id);
  }
  return way;
}

export type Direction = 'up' | 'down' | 'in' | 'out';

export function isDirection(text: string): text is Direction {
  return ['up', 'down', 'in', 'out'].includes(text);
}

export interface TreePlace {
  parentId: string;
  /** The number of its siblings before it. */
  position: number;
}

/** The place of a category; undefined: it does not exist, or it is the root. */
export function placeOf(rows: readonly TreeRow[], categoryId: string): TreePlace | undefined {
  const parentId = rows.find((row) => row.categoryId === categoryId)?.parentId;
  if (parentId == null) return undefined;
  const siblings = rows.filter((row) => row.parentId === parentId);
  return { parentId, position: siblings.findIndex((row) => row.categoryId === categoryId) };
}

/**
 * The place of a category after one step: up or down among its siblings, in below the previous sibling, out to after
 * its parent. undefined: there is no such step.
 */
export function stepTo(
  rows: readonly TreeRow[],
  categoryId: string,
  direction: Direction,
): TreePlace | undefined {
  const place = placeOf(rows, categoryId);
  if (!place) return undefined;
  const { parentId, position } = place;
  const siblings = rows.filter((row) => row.parentId === parentId);
  switch (direction) {
    case 'up':
      return position === 0 ? undefined : { parentId, position: position - 1 };
    case 'down':
      return position === siblings.length - 1 ? undefined : { parentId, position: position + 1 };
    case 'in': {
      const before = siblings[position - 1];
      if (!before) return undefined;
      const children = rows.filter((row) => row.parentId === before.categoryId).length;
      return { parentId: before.categoryId, position: children };
    }
    case 'out': {
      const parent = placeOf(rows, parentId);
      return parent && { parentId: parent.parentId, position: parent.position + 1 };
    }
  }
}
