-- Which process sends a notice of the order of a session, so that an earlier state never arrives after a later one.
alter table assistant_session add column holder uuid;
alter table assistant_session add column leased_until timestamptz;
