-- What the lists of the admin are read from, so that a page costs the same in a shop with a million orders.

-- Who did what: what an app or a person did, and what was done in one way, newest first.
create index audit_entry_app on audit_entry (shop_id, app_id, method, entry_id);

create index audit_entry_method on audit_entry (shop_id, method, entry_id);

-- The beginning of an address. The operator class compares bytes, so that a beginning is a range whatever the collation
-- of the database is.
create index newsletter_subscriber_beginning on newsletter_subscriber (shop_id, campaign_id, email text_pattern_ops);

-- How many get a newsletter: equal entries are stored once, so that counting reads little.
create index newsletter_subscriber_subscribed on newsletter_subscriber (shop_id, campaign_id) where subscribed;

-- The customers of a group, newest first.
create index customer_of_group on customer (shop_id, customer_group_id, created_at, customer_id)
  where customer_group_id is not null;

-- Carts that were left, newest first. Whoever fills a cart changes nothing that is in it.
create index cart_left on cart (shop_id, created_at, cart_id) where abandoned_at > '-infinity' and picked_up_at is null;

-- The orders of each set of states by their last change, and all orders. With both times, so that pages are found in the
-- index alone, and those outside of a window are skipped there.
create index customer_order_states_touched on customer_order
  (shop_id, currency, states, (coalesce(updated_at, created_at)), order_id) include (created_at, updated_at);

create index customer_order_last_touched on customer_order
  (shop_id, (coalesce(updated_at, created_at)), order_id) include (created_at, updated_at);

drop index customer_order_touched;
