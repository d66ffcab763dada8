import SerializerSelector from '@fastify/fast-json-stringify-compiler';

/**
 * Fastify's own compiler of answers, called when an answer is first sent: all of them together would take a fifth of
 * a second of every start, and most answers are rendered texts that need none.
 */
export const buildSerializer: ReturnType<typeof SerializerSelector> = (schemas, options) => {
  const compile = SerializerSelector()(schemas, options);
  return (route) => {
    let serialise: ReturnType<typeof compile> | undefined;
    return (answer) => (serialise ??= compile(route))(answer);
  };
};
