-- Shops that the host makes from backups, in the background (src/host/backups/).
create table shop_restore (
  -- Begins with its moment, so ids are in the order of time.
  restore_id uuid not null,
  -- The id of the new shop.
  shop text not null,
  -- One of both: a stored backup, or a file that was sent.
  backup_id uuid,
  upload_id uuid,
  -- null: as in the backup.
  plan text,
  -- The owner who is invited.
  owner text,
  is_suspended boolean not null,
  -- The token, for the log.
  by_name text not null,
  state text not null,
  error_code text,
  error text,
  done_at timestamptz,
  attempts integer not null default 0,
  -- Files below the id may be those of an attempt that has ended with its process.
  has_files boolean not null default false,
  holder uuid,
  leased_until timestamptz,
  constraint shop_restore_pkey primary key (restore_id),
  constraint shop_restore_state check (state in ('waiting', 'done', 'failed')),
  constraint shop_restore_source check ((backup_id is null) <> (upload_id is null)),
  constraint shop_restore_lengths check (
    length(shop) <= 63 and length(plan) <= 63 and length(owner) <= 254 and length(by_name) <= 100
    and length(error_code) <= 40 and length(error) <= 1000)
);

-- Two shops of one id are not made at the same time.
create unique index shop_restore_waiting on shop_restore (shop) where state = 'waiting';

-- Files of backups that were sent, in parts, so that no process holds one as a whole.
create table backup_part (
  upload_id uuid not null,
  part_number integer not null,
  sent_at timestamptz not null,
  content bytea not null,
  constraint backup_part_pkey primary key (upload_id, part_number),
  constraint backup_part_bounds
    check (part_number between 1 and 500 and octet_length(content) between 1 and 10485760)
);

create index backup_part_sent on backup_part (sent_at);
