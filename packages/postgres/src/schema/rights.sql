-- What the application's role may do: rows, through policies. It owns nothing, so it can change no table and no policy.

revoke all on schema strata from public;
grant usage on schema strata to {{role}};
grant select, insert, update, delete on all tables in schema strata to {{role}};
revoke insert, update, delete on strata.schema_version from {{role}};
revoke execute on all functions in schema strata from public;
grant execute on all functions in schema strata to {{role}};
