-- sqlite3 :memory: -init blobs.sql .quit
-- Records of 2 to 6 KB, joined and rewritten: most of the time is in memcpy.
pragma page_size=16384;
create table t(a integer primary key, b blob);
with recursive c(i) as (select 1 union all select i+1 from c where i<40) insert into t select i, zeroblob(2500+i*100) from c;
create table u(a integer primary key, b blob);
with recursive c(i) as (select 1 union all select i+1 from c where i<9000) select count(*), sum(length(t.b||x'01')) from c, t;
with recursive c(i) as (select 1 union all select i+1 from c where i<1800) insert or replace into u select t.a + 64*(c.i%4), t.b from c, t;
select count(*), sum(length(b)) from u;
