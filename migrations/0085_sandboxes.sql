-- Sandboxes: copies of a shop for trying things out, with a clock of their own.

-- The shop that it is a sandbox of, which may have been deleted since; null: it is a shop of its own.
alter table shop add column sandbox_of text;

-- Milliseconds by which the clock of a sandbox is ahead. It only goes forward, by ten years at most (and leap days).
alter table shop add column sandbox_clock bigint not null default 0;

alter table shop add constraint shop_sandbox_clock
  check (sandbox_clock between 0 and 315705600000 and (sandbox_clock = 0 or sandbox_of is not null));

-- The sandboxes of a shop are counted, and every process reads the clocks of all every few seconds.
create index shop_sandbox on shop (sandbox_of) where sandbox_of is not null;

-- The last emails of a sandbox, which are kept and never sent.
create table sandbox_email (
  shop_id text not null,
  -- Begins with its moment, so the primary key is also the order of time.
  email_id uuid not null,
  at timestamptz not null,
  kind text not null,
  recipient text not null,
  subject text not null,
  body text not null,
  -- Names of files.
  attachments text[] not null,
  constraint sandbox_email_pkey primary key (shop_id, email_id),
  constraint sandbox_email_lengths check (
    length(kind) <= 100 and length(recipient) <= 254 and length(subject) <= 1000 and length(body) <= 200000
    and cardinality(attachments) <= 20)
);

alter table sandbox_email add constraint sandbox_email_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;
