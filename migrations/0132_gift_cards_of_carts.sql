-- The gift cards that a cart is paid with, in the order in which they are used up.
alter table cart add column gift_card_ids uuid[] not null default '{}';
