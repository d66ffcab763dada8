-- Somebody who was invited into a shop works there only after following the link of that invitation. One account is used
-- for all shops, so a link of one shop must not open another one in which the same person is still expected. Members who
-- were there before have accepted.
alter table shop_user add column is_pending boolean not null default false;

-- The id of the shop whose invitation the link is; null: it chooses a password and belongs to no shop. It is not called
-- shop_id, because the link is part of no shop: it is in no backup, and on a cluster it is beside the users.
alter table admin_link add column invited_to text;
