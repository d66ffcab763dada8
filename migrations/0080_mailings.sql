-- Mailings: what the subscribers of newsletters are sent. Their content is a list of blocks, as that of a page.

-- The language of the page on which somebody asked for a newsletter; null: unknown.
alter table newsletter_request add column locale text;
alter table newsletter_subscriber add column locale text;

-- Addresses that mailings are not sent to any more: their server refuses them for good, or the person has complained.
create table newsletter_bounce (
  shop_id text not null,
  -- Lower case, as in newsletter_subscriber.
  email text not null,
  kind text not null,
  created_at timestamptz not null,
  constraint newsletter_bounce_pkey primary key (shop_id, email),
  constraint newsletter_bounce_email check (email = lower(email) and length(email) <= 254),
  constraint newsletter_bounce_kind check (kind in ('bounced', 'complained'))
);

alter table newsletter_bounce add constraint newsletter_bounce_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

create table mailing (
  shop_id text not null,
  mailing_id uuid not null,
  state text not null,
  -- The newsletters whose subscribers get it. Without foreign keys, as those of the next two: a mailing stays as it was.
  newsletter_ids uuid[] not null,
  -- Only the customers of this segment get it.
  segment_id uuid,
  -- The coupons whose orders its results show.
  coupon_campaign_id uuid,
  -- Emails per hour; null: as many as the operator allows.
  per_hour integer,
  send_at timestamptz,
  started_at timestamptz,
  ended_at timestamptz,
  -- When the next mailing of the shop may begin, so that the emails of one after the other are not more than the bound.
  paced_until timestamptz,
  -- Why it was not sent.
  problem text,
  author text not null,
  version bigint not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  -- Counted in the transaction that changes a recipient. The recipients themselves are deleted a while after the end.
  recipients bigint not null,
  sent bigint not null,
  skipped bigint not null,
  refused bigint not null,
  bounced bigint not null,
  -- Of those who were sent it.
  complained bigint not null,
  unsubscribed bigint not null,
  -- When its recipients are deleted; null: there are none.
  forget_at timestamptz,
  constraint mailing_pkey primary key (shop_id, mailing_id),
  constraint mailing_state check (state in ('draft', 'scheduled', 'sending', 'paused', 'sent', 'cancelled')),
  constraint mailing_newsletters check (cardinality(newsletter_ids) between 1 and 20),
  constraint mailing_per_hour check (per_hour between 1 and 1000000),
  constraint mailing_problem check (length(problem) <= 60),
  constraint mailing_author check (length(author) <= 254)
);

alter table mailing add constraint mailing_shop foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The clean-up looks for what is due over all shops.
create index mailing_forget on mailing (forget_at) where forget_at is not null;

create table mailing_text (
  shop_id text not null,
  mailing_id uuid not null,
  locale text not null,
  subject text not null,
  -- What email programs show after the subject.
  preheader text,
  blocks jsonb not null,
  -- The uploaded pictures that it names, so that the clean-up keeps their files: emails show them for years.
  image_keys uuid[] not null,
  constraint mailing_text_pkey primary key (shop_id, mailing_id, locale),
  constraint mailing_text_lengths check (length(subject) between 1 and 200 and length(preheader) <= 200),
  constraint mailing_text_blocks check (jsonb_typeof(blocks) = 'array' and jsonb_array_length(blocks) <= 60)
);

alter table mailing_text add constraint mailing_text_mailing
  foreign key (shop_id, mailing_id) references mailing (shop_id, mailing_id) on delete cascade;

-- The sending of a mailing that is scheduled, being sent, or paused. It is not part of a backup: a restored shop has no
-- recipients either, and nobody gets a mailing twice.
create table mailing_run (
  shop_id text not null,
  mailing_id uuid not null,
  -- When a process may take it. Whoever takes it moves this to the end of its lease. null: it is paused.
  run_at timestamptz,
  -- How often it was taken. Who has taken it last is the one whose progress counts.
  attempts bigint not null,
  -- The recipients are collected in the order of their addresses, up to this one.
  collected_to text not null,
  is_collected boolean not null,
  constraint mailing_run_pkey primary key (shop_id, mailing_id)
);

alter table mailing_run add constraint mailing_run_mailing
  foreign key (shop_id, mailing_id) references mailing (shop_id, mailing_id) on delete cascade;

create index mailing_run_due on mailing_run (run_at) where run_at is not null;

create table mailing_recipient (
  shop_id text not null,
  mailing_id uuid not null,
  email text not null,
  -- The language in which the person gets it; null: unknown.
  locale text,
  -- waiting; queued: it has a job; sent: the server has taken it; skipped: the person has unsubscribed meanwhile, or had
  -- too many emails on that day; refused: the server did not take this email; bounced: it does not know the address.
  state text not null,
  job_id uuid,
  -- Of the last change.
  changed_at timestamptz not null,
  unsubscribed boolean not null default false,
  complained boolean not null default false,
  constraint mailing_recipient_pkey primary key (shop_id, mailing_id, email),
  constraint mailing_recipient_state check (state in ('waiting', 'queued', 'sent', 'skipped', 'refused', 'bounced'))
);

alter table mailing_recipient add constraint mailing_recipient_mailing
  foreign key (shop_id, mailing_id) references mailing (shop_id, mailing_id) on delete cascade;

-- The next ones, and those whose job is not done.
create index mailing_recipient_open on mailing_recipient (shop_id, mailing_id, state, email)
  where state in ('waiting', 'queued');

-- What a person was sent: for an export, an erasure, and a bounce.
create index mailing_recipient_of_email on mailing_recipient (shop_id, email, changed_at);

-- Emails of mailings have a queue of their own, which waits for that of the other emails.
alter table job drop constraint job_queue;
alter table job add constraint job_queue check (queue in ('mail', 'mailing'));

-- People who write mailings need no right to anything else.
alter table shop_user drop constraint shop_user_role;
alter table shop_user add constraint shop_user_role
  check (role in ('owner', 'manager', 'catalogue', 'orders', 'marketing', 'accountant'));
