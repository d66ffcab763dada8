-- Backups of shops that the service makes every day (src/host/backups/). They outlive a shop, so they name it by a
-- column that is no key of it.
create table shop_backup (
  -- Begins with its moment, so ids are in the order of time.
  backup_id uuid not null,
  shop text not null,
  -- waiting: the host has asked for it. removing: it is too old.
  state text not null,
  -- The name in the store.
  place text not null,
  -- The moment that it shows; null: it has not begun.
  created_at timestamptz,
  bytes bigint,
  sha256 text,
  rows bigint,
  files bigint,
  -- The last migration of the installation that made it.
  schema text,
  -- Why it has failed.
  error text,
  -- When it was restored to try it, and what was wrong then.
  verified_at timestamptz,
  verify_error text,
  constraint shop_backup_pkey primary key (backup_id),
  constraint shop_backup_state check (state in ('waiting', 'running', 'done', 'failed', 'removing')),
  constraint shop_backup_lengths check (
    length(shop) <= 63 and length(place) <= 200 and length(sha256) = 64 and length(schema) <= 200
    and length(error) <= 1000 and length(verify_error) <= 1000)
);

create index shop_backup_of_shop on shop_backup (shop, backup_id);

-- Asked for twice, it is made once.
create unique index shop_backup_waiting on shop_backup (shop) where state = 'waiting';

create index shop_backup_verified on shop_backup (verified_at) where verified_at is not null;

-- When each shop is backed up next.
create table backup_plan (
  shop text not null,
  due_at timestamptz not null,
  -- Failures in a row, and the last one.
  attempts integer not null default 0,
  error text,
  -- When the last whole backup was made, or was found to be still the same as the shop.
  good_at timestamptz,
  -- What the rows of the shop were like then; an equal mark means that nothing has changed.
  mark text,
  -- When the shop was found to be gone.
  gone_at timestamptz,
  holder uuid,
  leased_until timestamptz,
  constraint backup_plan_pkey primary key (shop),
  constraint backup_plan_lengths check (length(shop) <= 63 and length(error) <= 1000 and length(mark) <= 200)
);

create index backup_plan_due on backup_plan (due_at);
