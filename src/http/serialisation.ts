import SerializerSelector from '@fastify/fast-json-stringify-compiler';

type Compile = ReturnType<ReturnType<typeof SerializerSelector>>;
type Serialise = ReturnType<Compile>;

/** By the text of the schema; their number is a constant of the program, however many apps a process has. */
const compiledByText = new Map<string, Serialise>();

/**
 * Fastify's own compiler of answers, called when an answer is first sent: all of them together would take a fifth of a
 * second of every start, and most answers are rendered texts that need none. No schema refers to another by its name,
 * so its text is complete.
 */
export const buildSerializer: ReturnType<typeof SerializerSelector> = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options);
  const compileOnce = (route: Parameters<Compile>[0]) => {
    const text = JSON.stringify(route.schema);
    const known = compiledByText.get(text);
    if (known) return known;
    const compiled = compile(route);
    compiledByText.set(text, compiled);
    return compiled;
  };
  return (route) => {
    let serialise: Serialise | undefined;
    return (answer) => (serialise ??= compileOnce(route))(answer);
  };
};
