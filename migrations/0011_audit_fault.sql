-- What the second look at a final block found wrong. While it stands nothing more is credited.
alter table chain_cursors add column audit_fault text;
