interface Node<Value> {
  /** By the text of the next segment. */
  named: Map<string, Node<Value>>;
  /** For any other next segment. */
  any?: Node<Value>;
  end?: { value: Value; names: readonly string[] };
}

/**
 * Values by path pattern, such as `/widgets/:widgetId`. A table reads an address as the router does: a slash at the end
 * is ignored, escapes mean their characters, and a segment with a name is preferred to one that may be anything. The
 * router compiles functions for each of its routes; a table costs a start nearly nothing.
 */
export function createPathTable<Value>() {
  const root: Node<Value> = { named: new Map() };

  const find = (
    node: Node<Value>,
    segments: readonly string[],
    at: number,
    taken: readonly string[],
  ): { value: Value; params: Record<string, string> } | undefined => {
    const segment = segments[at];
    if (segment === undefined) {
      const { value, names } = node.end ?? {};
      if (!names) return undefined;
      return { value: value!, params: Object.fromEntries(names.map((name, index) => [name, taken[index]!])) };
    }
    const named = node.named.get(segment);
    return (
      (named && find(named, segments, at + 1, taken)) ??
      (node.any && find(node.any, segments, at + 1, [...taken, segment]))
    );
  };

  const findAfter = (
    node: Node<Value>,
    segments: readonly string[],
    at: number,
    isOther: boolean,
  ): Value[] => {
    const segment = segments[at];
    if (segment === undefined) return isOther && node.end ? [node.end.value] : [];
    const isAny = segment.startsWith(':');
    const named = isAny ? (isOther ? [...node.named.values()] : []) : [node.named.get(segment)];
    return [
      ...named.flatMap((next) => (next ? findAfter(next, segments, at + 1, isOther) : [])),
      ...(node.any ? findAfter(node.any, segments, at + 1, isOther || !isAny) : []),
    ];
  };

  return {
    add(pattern: string, value: Value): void {
      let node = root;
      const names: string[] = [];
      for (const segment of pattern.split('/')) {
        if (segment.startsWith(':')) {
          names.push(segment.slice(1));
          node = node.any ??= { named: new Map() };
        } else {
          let next = node.named.get(segment);
          if (!next) node.named.set(segment, (next = { named: new Map() }));
          node = next;
        }
      }
      node.end = { value, names };
    },

    /** The value of a URL that the router was able to decode. */
    find: (url: string) => find(root, segmentsOf(url), 0, []),

    /** The values of the patterns that would have some paths of this one, if it were not there. */
    findAfter: (pattern: string) => findAfter(root, pattern.split('/'), 0, false),
  };
}

/** A request to a proxy names the host as well. */
const PATH = /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i;

function segmentsOf(url: string): string[] {
  const [, path = ''] = PATH.exec(url) ?? [];
  return path
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .map(decodeURIComponent);
}
