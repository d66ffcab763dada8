-- Sandboxes that owners make in the admin, in the background (src/admin/sandbox/). A shop has one row, that of the last.
create table sandbox_copy (
  -- The shop that is copied.
  shop_id text not null,
  -- The id of the sandbox. It is no foreign key: the sandbox is not there yet, and may be deleted before its shop.
  sandbox text not null,
  with_customers boolean not null,
  -- The owner who has asked for it, for the audit log.
  user_id uuid not null,
  email text not null,
  created_at timestamptz not null,
  state text not null,
  error_code text,
  -- Rows and files to copy; null: they are not counted yet.
  entries bigint,
  entries_done bigint not null default 0,
  attempts integer not null default 0,
  -- Files below its id may be those of an attempt that has ended with its process.
  has_files boolean not null default false,
  holder uuid,
  leased_until timestamptz,
  constraint sandbox_copy_pkey primary key (shop_id),
  constraint sandbox_copy_state check (state in ('waiting', 'done', 'failed')),
  constraint sandbox_copy_lengths
    check (length(sandbox) <= 63 and length(email) <= 254 and length(error_code) <= 40)
);

alter table sandbox_copy add constraint sandbox_copy_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

create index sandbox_copy_waiting on sandbox_copy (created_at) where state = 'waiting';

-- The restore replaces the shop of this id, which is closed meanwhile; `is_suspended` says whether it was before.
alter table shop_restore add column replaces boolean not null default false;
