-- The delivery that a customer has chosen among those that apps offer, with what the app has answered: its price is an
-- input of the totals, and counts as long as the cart is the one that the app was asked about. null: a method of the shop.
alter table cart add column delivery_option jsonb;
alter table cart add constraint cart_delivery_option check (length(delivery_option::text) <= 8000);
