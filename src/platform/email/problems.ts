import type { Queries } from '../../db/database.ts';
import { deleteOld } from '../../db/delete-old.ts';
import { sql } from '../../db/sql.ts';
import type { CleanupStep } from '../cleanup.ts';

/** An address that did not get the last email of a shop. */
export interface EmailProblem {
  email: string;
  /** bounced: there is no such address; refused: its server has not taken this email. */
  kind: 'bounced' | 'refused';
  /** The kind of email. */
  template: string;
  /** The server's answer. */
  answer: string;
  at: Date;
}

/** Records that an address did not get an email; an earlier entry of the address is replaced. */
export function saveProblem(
  db: Queries,
  shopId: string,
  { to, template, kind, answer }: Pick<EmailProblem, 'kind' | 'template' | 'answer'> & { to: string },
) {
  return db.run(sql`
    insert into email_problem (shop_id, email, kind, template, answer, at)
    select shop_id, ${to.toLowerCase()}, ${kind}, ${template}, ${answer}, ${db.now}::timestamptz
    from shop where shop_id = ${shopId}
    on conflict (shop_id, email) do update
    set kind = excluded.kind, template = excluded.template, answer = excluded.answer, at = excluded.at`);
}

/** The address has got an email. */
export function forgetProblem(db: Queries, shopId: string, to: string) {
  return db.run(sql`delete from email_problem where shop_id = ${shopId} and email = ${to.toLowerCase()}`);
}

export function findProblem(db: Queries, shopId: string, email: string) {
  return db.one<EmailProblem>(sql`
    select email, kind, template, answer, at from email_problem
    where shop_id = ${shopId} and email = ${email.toLowerCase()}`);
}

const PROBLEMS_STAY = 90 * 86_400_000;

const deleteProblems = deleteOld('email_problem', 'at', { email: 'text' });

export const emailProblemCleanup: CleanupStep = {
  name: 'addresses without emails',
  run: (db, limit) => deleteProblems(db, new Date(db.now.getTime() - PROBLEMS_STAY), limit),
};
