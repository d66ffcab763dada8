-- The language that a shopper has chosen, so that other devices of the account show it too; null: none was chosen.
alter table account add column locale text,
  add constraint account_locale check (locale ~ '^[a-z]{2}_[A-Z]{2}$');
