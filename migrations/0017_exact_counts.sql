-- A statement that must touch so many rows fails by itself where it does not, so that a commit may
-- be sent right behind it.
create function require_count(touched bigint, wanted bigint) returns boolean language plpgsql as $$
begin
  if touched <> wanted then
    raise exception '% rows were touched instead of %', touched, wanted using errcode = 'FL001';
  end if;
  return true;
end
$$;
