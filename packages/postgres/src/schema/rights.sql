-- What the application's role may do: rows, through policies. It owns nothing, so it can change no table and no policy.

revoke all on schema strata from public;
grant usage on schema strata to {{role}};
grant select, insert, update, delete on all tables in schema strata to {{role}};
revoke insert, update, delete on strata.schema_version from {{role}};
revoke execute on all functions in schema strata from public;
grant execute on all functions in schema strata to {{role}};

-- A function of the same name in a schema that the role looks into would run in the place of the server's own, and see every tenant's calls.
-- Those in SQL are called from these, and so see the same.
do $$
declare v_function regprocedure;
begin
  for v_function in select p.oid from pg_catalog.pg_proc p join pg_catalog.pg_language l on l.oid = p.prolang
    where p.pronamespace = 'strata'::regnamespace and l.lanname = 'plpgsql' loop
    execute format('alter function %s set search_path = pg_catalog, pg_temp', v_function);
  end loop;
end $$;
