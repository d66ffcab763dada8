import { PROBLEM_CODES, REASONS } from '../../http/errors.ts';
import { REFUSALS, type RefusalEntry } from '../../http/refusals.ts';

/** The Markdown of docs/errors.md, which `npm run generate` writes from the catalogue of refusals. */
export function errorGuide(): string {
  const entries: [code: string, entry: RefusalEntry][] = Object.entries(REFUSALS);
  const statuses = [...new Set(entries.map(([, { status }]) => status))].toSorted((a, b) => a - b);
  const sections = statuses.map((status) => {
    const ofStatus = entries.filter(([, entry]) => entry.status === status);
    return `## ${status} ${REASONS[status]}\n\n${ofStatus.map(([code, entry]) => refusalSection(code, entry)).join('\n')}`;
  });
  const problems = Object.entries(PROBLEM_CODES).map(([code, text]) => `### ${code}\n\n${text}\n`);
  return `${INTRODUCTION}\n${VALUES}\n${problems.join('\n')}\n${sections.join('\n')}`;
}

function refusalSection(code: string, { message, field }: RefusalEntry): string {
  const about = field === undefined ? '' : `\nField: \`${field}\`\n`;
  return `### ${code}\n\n\`${message}\`\n${about}`;
}

const INTRODUCTION = `# Errors

Every refusal of the API has the same body, and three headers for programs:

\`\`\`http
HTTP/1.1 404 Not Found
Content-Type: application/json
X-Error-Code: NOT_FOUND
X-Error-Field: productId
Link: </docs/errors#not_found>; rel="help"

{"message": "HTTP 404 Not Found, Request: GET /rs/shops/DemoShop/products/none", "status": "Not Found"}
\`\`\`

- \`X-Error-Code\` is one of the codes below. Codes never change; new ones may be added.
- \`X-Error-Field\` is the field of the body, the parameter or the header that the refusal is about. It is absent where it is
  about none. For an unknown id it names the ids of the path: one of them does not exist.
- \`Link\` leads to the code on this page.

The details are headers because clients of many years know the two fields of the body and nothing else. Use \`curl -i\` to see
them.

A 404 says what does not exist: [the shop](#shop_not_found), [the path](#path_not_found) or [an id](#not_found). An id of
another shop is as unknown as any other.

Query parameters that an operation does not know are ignored. Where only your own machine can call, the answer names them:
\`X-Warning: unknown query parameter pgae, did you mean page?\`
`;

const VALUES = `## Wrong values

A refused value is a 400 with the code and the place of the first wrong value. The message names all of them:
\`validation error MISSING on field billingAddress.lastName\`.
`;
