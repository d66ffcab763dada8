-- The products and sums of a session that its assistant has ended, without its buyer: the assistant may ask for it again.
alter table assistant_session add column ended jsonb;
