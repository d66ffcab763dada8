-- A tag of an order, as it was typed. Two tags that differ in upper and lower case only are the same one.
create table order_tag (
  shop_id text not null,
  order_id uuid not null,
  tag_key text not null,
  tag text not null,
  constraint order_tag_pkey primary key (shop_id, order_id, tag_key),
  constraint order_tag_form check (length(tag) between 1 and 40 and tag_key = lower(tag))
);

-- The orders with a tag, and the tags of a shop one after the other.
create index order_tag_key on order_tag (shop_id, tag_key, order_id);

alter table order_tag add constraint order_tag_order
  foreign key (shop_id, order_id) references customer_order (shop_id, order_id) on delete cascade;
