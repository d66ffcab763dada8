import { createHostToken, endHostToken, findHostTokens } from '../host/tokens.ts';
import { HOST_SCOPES, isHostScope, type HostScope } from '../http/scopes.ts';
import { isId } from '../kernel/ids.ts';
import { print, printTable, withDatabase, type Handlers } from './command.ts';
import { CommandProblem } from './problem.ts';

export const handlers = {
  'host token create': ({ config, options }) => {
    const scopes = parseHostScopes(String(options['scopes']));
    const name = String(options['name'] ?? 'host');
    if (!NAME.test(name)) {
      throw new CommandProblem('The name has 1 to 100 characters, and none that breaks a line.');
    }
    return withDatabase(config, async (db) => {
      print(await db.transaction((tx) => createHostToken(tx, { name, scopes })));
    });
  },
  'host token list': ({ config }) =>
    withDatabase(config, async (db) => {
      const tokens = await findHostTokens(db);
      printTable(
        ['TOKEN', 'NAME', 'CREATED', 'LAST USE', 'SCOPES'],
        tokens.map(({ tokenId, name, createdAt, lastUsedAt, scopes }) => [
          tokenId,
          name,
          createdAt.toISOString(),
          lastUsedAt?.toISOString() ?? 'never',
          HOST_SCOPES.every((scope) => scopes.includes(scope)) ? 'all' : scopes.join(','),
        ]),
      );
    }),
  'host token end': ({ config, arguments: [token] }) =>
    withDatabase(config, async (db) => {
      if (!(await db.transaction((tx) => endHostToken(tx, token!, isId(token!))))) {
        throw new CommandProblem('There is no such token of the host. See: npx kontor host token list');
      }
      print('Ended.');
    }),
} satisfies Handlers;

/** No leading or trailing blanks, nothing that breaks a line or a table. */
const NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,100}(?<! )$/u;

/** `all`, or names separated by commas. */
function parseHostScopes(text: string): HostScope[] {
  if (text === 'all') return [...HOST_SCOPES];
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const unknown = names.find((name) => !isHostScope(name));
  if (unknown !== undefined) {
    throw new CommandProblem(
      `Unknown scope ${JSON.stringify(unknown)}. The scopes of the host are: ${HOST_SCOPES.join(', ')}`,
    );
  }
  return names.filter(isHostScope);
}
