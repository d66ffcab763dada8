-- The zones of a shipping method, in the order in which they are tried:
-- [{"countries": ["FR"], "postcodes": [], "amount": 1490, "tiers": [], "weights": [], "freeFrom": null, "days": null,
--   "maxWeight": null}], weights in grams. Without zones a method delivers to all countries of the shop at its own price.
alter table shipping_method add column zones jsonb not null default '[]';

-- Where and when customers collect their goods, by locale.
alter table shipping_method add column place jsonb not null default '{}';
alter table shipping_method add column hours jsonb not null default '{}';
