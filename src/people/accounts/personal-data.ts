import type { Queries } from '../../db/database.ts';
import { sql } from '../../db/sql.ts';
import { section, type Person, type PersonalData } from '../../platform/personal-data.ts';

/** Accounts with their address books and sessions, and requests to sign in. */
export const accountPersonalData: PersonalData = {
  sections: {
    accounts: section('Accounts in the shop, with the address book.', findAccountsOf),
    accountSessions: section('Browsers that are signed in.', findSessionsOf),
    signInRequests: section('Emails that were asked for to sign in.', findSignInRequestsOf),
  },
  counts: { accountsDeleted: 'Accounts, with addresses, passkeys and sessions.' },
  erase: async (tx, shopId, { emails }) => {
    await tx.run(sql`delete from sign_in_request where shop_id = ${shopId} and email = any (${emails})`);
    const accountsDeleted = await tx.run(
      sql`delete from account where shop_id = ${shopId} and email = any (${emails})`,
    );
    return { counts: { accountsDeleted } };
  },
};

function findAccountsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select email, created_at as since, locale, (
        select coalesce(json_agg(address order by created_at desc), '[]') from account_address
        where account_address.shop_id = ${shopId} and account_address.account_id = account.account_id
      ) as addresses, (
        select coalesce(json_agg(json_build_object('browser', browser, 'system', system, 'since', created_at,
          'lastUsed', used_at) order by created_at), '[]') from account_passkey
        where account_passkey.shop_id = ${shopId} and account_passkey.account_id = account.account_id
      ) as passkeys
    from account where shop_id = ${shopId} and email = any (${emails}) order by created_at`);
}

function findSessionsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select browser, system, account_session.created_at as since, seen_at as "lastSeen"
    from account_session
    join account on account.shop_id = account_session.shop_id and account.account_id = account_session.account_id
    where account_session.shop_id = ${shopId} and email = any (${emails}) order by account_session.created_at`);
}

function findSignInRequestsOf(db: Queries, shopId: string, { emails }: Person) {
  return db.many<object>(sql`
    select email, created_at as since from sign_in_request
    where shop_id = ${shopId} and email = any (${emails}) order by created_at`);
}
