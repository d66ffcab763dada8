-- What the host tells the people of its shops, such as a maintenance.
create table host_message (
  message_id uuid not null,
  level text not null,
  -- By language: en, de, fr.
  texts jsonb not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  -- Whose people see it; both null: all shops.
  plans text[],
  shop_ids text[],
  -- The page /status shows it too.
  is_public boolean not null,
  created_at timestamptz not null,
  changed_at timestamptz not null,
  -- The owners get it by email: when the next of them are due, and the shops up to which they have it. null: nobody is
  -- sent it any more.
  email_due_at timestamptz,
  emailed_to text not null default '',
  constraint host_message_pkey primary key (message_id),
  constraint host_message_level check (level in ('info', 'warning')),
  constraint host_message_times check (ends_at > starts_at),
  constraint host_message_texts check (jsonb_typeof(texts) = 'object' and length(texts::text) <= 10000),
  constraint host_message_plans check (cardinality(plans) between 1 and 50),
  constraint host_message_shops check (cardinality(shop_ids) between 1 and 500)
);

create index host_message_ends on host_message (ends_at);

-- People who have put a message away, or were sent it by email.
create table host_message_reader (
  message_id uuid not null,
  user_id uuid not null,
  dismissed_at timestamptz,
  emailed_at timestamptz,
  constraint host_message_reader_pkey primary key (message_id, user_id)
);

alter table host_message_reader add constraint host_message_reader_message
  foreign key (message_id) references host_message (message_id) on delete cascade;

alter table host_message_reader add constraint host_message_reader_user
  foreign key (user_id) references admin_user (user_id) on delete cascade;

create index host_message_reader_user on host_message_reader (user_id);
