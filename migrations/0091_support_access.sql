-- Support access: the owner of a shop lets people of the host in, until a moment that the owner chooses.

-- At most one grant per shop. Ending it deletes the row, and with it every session that was opened by it: a session
-- counts only while the grant of its id is here and has not ended.
create table support_grant (
  shop_id text not null,
  grant_id uuid not null,
  -- What the people of the host may do; never what only owners may.
  role text not null,
  -- Email address of the owner.
  granted_by text not null,
  granted_at timestamptz not null,
  ends_at timestamptz not null,
  constraint support_grant_pkey primary key (shop_id),
  constraint support_grant_role check (length(role) between 1 and 50 and role <> 'owner'),
  constraint support_grant_by check (length(granted_by) <= 254),
  constraint support_grant_end check (ends_at > granted_at and ends_at <= granted_at + interval '30 days')
);

alter table support_grant add constraint support_grant_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Who has entered by a grant: a session in the admin, and afterwards the record of it.
create table support_visit (
  shop_id text not null,
  visit_id uuid not null,
  grant_id uuid not null,
  token_hash bytea not null,
  -- As the host named the person.
  name text not null,
  email text not null,
  reason text not null,
  entered_at timestamptz not null,
  seen_at timestamptz not null,
  -- The person has left; null: the session lasts as long as its grant.
  left_at timestamptz,
  constraint support_visit_pkey primary key (shop_id, visit_id),
  constraint support_visit_token unique (shop_id, token_hash),
  constraint support_visit_lengths check (
    length(name) between 1 and 100 and length(email) between 3 and 254 and length(reason) between 1 and 500)
);

alter table support_visit add constraint support_visit_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

create index support_visit_entered on support_visit (entered_at);
