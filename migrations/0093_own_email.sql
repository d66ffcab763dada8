-- Emails of a shop: by a mail server of its own, signed for its own domain, frozen by the host; and what became of them.

-- The host has stopped the emails of the shop; null: they are sent.
alter table shop add column emails_frozen_at timestamptz;
alter table shop add column emails_frozen_reason text;
alter table shop add constraint shop_emails_frozen
  check ((emails_frozen_at is null) = (emails_frozen_reason is null) and length(emails_frozen_reason) between 1 and 500);

-- Since when a job waits because its shop may not send, or its mail server is away; null: it never had to. Such waiting
-- is no attempt.
alter table job add column held_at timestamptz;

-- The mail server of a shop; without a row its emails go by that of the host.
create table email_relay (
  shop_id text not null,
  host text not null,
  port integer not null,
  tls text not null,
  user_name text,
  password_sealed bytea,
  sender text not null,
  updated_at timestamptz not null,
  -- Emails in a row that it has not taken for a reason that is not theirs: the next one waits longer.
  failures integer not null default 0,
  -- No email is tried before.
  blocked_until timestamptz,
  failing_since timestamptz,
  -- 'auth', 'sender', 'tls', 'unreachable' and so on, and what the server said.
  problem text,
  answer text,
  constraint email_relay_pkey primary key (shop_id),
  constraint email_relay_host check (length(host) between 1 and 253),
  constraint email_relay_port check (port between 1 and 65535),
  constraint email_relay_tls check (tls in ('starttls', 'implicit', 'none')),
  constraint email_relay_user check (length(user_name) between 1 and 254),
  constraint email_relay_password check (octet_length(password_sealed) <= 2048),
  constraint email_relay_sender check (length(sender) <= 254),
  constraint email_relay_failures check (failures between 0 and 1000),
  constraint email_relay_problem check (length(problem) <= 40 and length(answer) <= 500)
);

alter table email_relay add constraint email_relay_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Keys that sign the emails of a shop for its own domain (DKIM). At most two: one that signs, and its successor.
create table dkim_key (
  shop_id text not null,
  -- The first label of the name of its record.
  selector text not null,
  domain text not null,
  -- The value p= of the record.
  public_key text not null,
  private_sealed bytea not null,
  created_at timestamptz not null,
  -- When the record was found first; null: it does not stand, and nothing is signed with the key.
  seen_at timestamptz,
  checked_at timestamptz,
  -- 'found', 'missing', 'other'; 'unknown': the name servers did not answer. null: not checked yet.
  found text,
  -- When it is checked next; a process that checks it moves this, so that no other one does.
  due_at timestamptz not null,
  attempts integer not null default 0,
  constraint dkim_key_pkey primary key (shop_id, selector),
  constraint dkim_key_selector check (selector ~ '^[a-z0-9]{1,40}$'),
  constraint dkim_key_domain check (domain = lower(domain) and length(domain) between 1 and 253),
  constraint dkim_key_public check (length(public_key) <= 1000),
  constraint dkim_key_private check (octet_length(private_sealed) <= 4096),
  constraint dkim_key_found check (found in ('found', 'missing', 'other', 'unknown')),
  constraint dkim_key_attempts check (attempts between 0 and 1000)
);

alter table dkim_key add constraint dkim_key_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

create index dkim_key_due on dkim_key (due_at);

-- Addresses that did not get the last email of the shop, until they get one.
create table email_problem (
  shop_id text not null,
  -- Lower case.
  email text not null,
  -- 'bounced': there is no such address; 'refused': its server has not taken this email.
  kind text not null,
  template text not null,
  -- What the server said.
  answer text not null,
  at timestamptz not null,
  constraint email_problem_pkey primary key (shop_id, email),
  constraint email_problem_email check (email = lower(email) and length(email) <= 254),
  constraint email_problem_kind check (kind in ('bounced', 'refused')),
  constraint email_problem_lengths check (length(template) <= 100 and length(answer) <= 500)
);

alter table email_problem add constraint email_problem_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The clean-up deletes what is old, over all shops.
create index email_problem_at on email_problem (at);

-- Emails of a mailing that were refused one after the other: at a bound it stops by itself.
alter table mailing add column refused_in_row integer not null default 0;
