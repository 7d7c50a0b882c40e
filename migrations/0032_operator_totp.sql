-- When a token got its present authenticator secret: sessions from before it are over.
alter table operator_tokens add column totp_set_at timestamptz;
