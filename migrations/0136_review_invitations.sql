-- The orders whose customers were invited to review what they have bought, or were left out: each is looked at once.
create table review_invitation (
  shop_id text not null,
  order_id uuid not null,
  decided_at timestamptz not null,
  constraint review_invitation_pkey primary key (shop_id, order_id)
);

create index review_invitation_decided on review_invitation (decided_at);

alter table review_invitation add constraint review_invitation_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- Who wants no invitations, by the hash of the email address: an objection outlives the data of the person.
create table review_objection (
  shop_id text not null,
  email_hash bytea not null,
  objected_at timestamptz not null,
  constraint review_objection_pkey primary key (shop_id, email_hash)
);

alter table review_objection add constraint review_objection_shop
  foreign key (shop_id) references shop (shop_id) on delete cascade;

-- The shipments of a few days.
create index order_shipment_at on order_shipment (shop_id, at);

-- The shops that invite, which are asked for all of the time; settings are too large to read all of them.
create index shop_invites on shop (shop_id) where settings -> 'reviews' ->> 'invite' in ('subscribers', 'customers');
