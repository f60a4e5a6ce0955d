-- The chain of each tenant: its last record. A row is locked by each change, so that changes form one order.
CREATE TABLE toolfold.head (
    tenant  text PRIMARY KEY,
    seq     bigint NOT NULL,
    hash    text NOT NULL,
    time_ms bigint NOT NULL
) WITH (fillfactor = 50);

-- about: the approval, grant or key that the record is about. batch: the transaction, for a lost answer to COMMIT.
CREATE TABLE toolfold.audit (
    tenant text NOT NULL,
    seq    bigint NOT NULL,
    body   text NOT NULL,
    prev   text NOT NULL,
    hash   text NOT NULL,
    about  text,
    batch  bytea NOT NULL,
    PRIMARY KEY (tenant, seq)
) PARTITION BY HASH (tenant);
DO $$
BEGIN
    FOR part IN 0..7 LOOP
        EXECUTE format('CREATE TABLE toolfold.audit_%s PARTITION OF toolfold.audit FOR VALUES WITH (MODULUS 8, REMAINDER %s)',
                       part, part);
    END LOOP;
END $$;
CREATE INDEX audit_about ON toolfold.audit (tenant, about, seq) WHERE about IS NOT NULL;

CREATE TABLE toolfold.approval (
    tenant      text NOT NULL,
    id          text NOT NULL,
    number      bigint GENERATED ALWAYS AS IDENTITY,
    state       text NOT NULL,
    call        text NOT NULL,
    expires_ms  bigint NOT NULL,
    consumed_by bytea,
    body        text NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX approval_open ON toolfold.approval (tenant, expires_ms) WHERE state IN ('pending', 'approved');
CREATE INDEX approval_call ON toolfold.approval (tenant, call);

CREATE TABLE toolfold.remembered (
    tenant  text NOT NULL,
    id      text NOT NULL,
    number  bigint GENERATED ALWAYS AS IDENTITY,
    revoked boolean NOT NULL DEFAULT false,
    body    text NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE toolfold.counted (
    tenant  text NOT NULL,
    number  bigint GENERATED ALWAYS AS IDENTITY,
    series  text NOT NULL,
    value   text NOT NULL,
    amount  bigint NOT NULL,
    time_ms bigint NOT NULL,
    call    text NOT NULL,
    state   smallint NOT NULL,
    PRIMARY KEY (tenant, number)
);
CREATE INDEX counted_series ON toolfold.counted (tenant, series, time_ms);
CREATE INDEX counted_call ON toolfold.counted (tenant, call);

CREATE TABLE toolfold.conversation (
    tenant   text NOT NULL,
    key      bytea NOT NULL,
    version  bigint NOT NULL,
    until_ms bigint NOT NULL,
    body     bytea NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX conversation_until ON toolfold.conversation (until_ms);

CREATE TABLE toolfold.used (
    tenant   text NOT NULL,
    key      bytea NOT NULL,
    used_by  bytea NOT NULL,
    until_ms bigint NOT NULL,
    PRIMARY KEY (tenant, key)
);
CREATE INDEX used_until ON toolfold.used (until_ms);

-- Messages of clients for other replicas.
CREATE TABLE toolfold.message (
    tenant   text NOT NULL,
    number   bigint GENERATED ALWAYS AS IDENTITY,
    key      bytea NOT NULL,
    until_ms bigint NOT NULL,
    body     bytea NOT NULL,
    PRIMARY KEY (tenant, number)
);
CREATE INDEX message_key ON toolfold.message (tenant, key);
CREATE INDEX message_until ON toolfold.message (until_ms);

CREATE TABLE toolfold.pin (
    tenant  text NOT NULL,
    server  text NOT NULL,
    version bigint NOT NULL,
    body    text NOT NULL,
    PRIMARY KEY (tenant, server)
);

DO $$
DECLARE
    own text;
BEGIN
    FOREACH own IN ARRAY ARRAY['head', 'audit', 'approval', 'remembered', 'counted', 'conversation', 'used', 'message',
                             'pin'] LOOP
        EXECUTE format('ALTER TABLE toolfold.%I ENABLE ROW LEVEL SECURITY', own);
        EXECUTE format('CREATE POLICY own_tenant ON toolfold.%I '
                       'USING (''t:'' || tenant = current_setting(''toolfold.tenant'', true))', own);
    END LOOP;
END $$;

-- Runs as the owner, because what has expired belongs to all tenants.
CREATE FUNCTION toolfold.remove_expired() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog AS $$
    WITH now_ms AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS is),
         conversations AS (DELETE FROM toolfold.conversation USING now_ms WHERE until_ms <= now_ms.is RETURNING 1),
         keys AS (DELETE FROM toolfold.used USING now_ms WHERE until_ms <= now_ms.is RETURNING 1),
         messages AS (DELETE FROM toolfold.message USING now_ms WHERE until_ms <= now_ms.is RETURNING 1)
    SELECT (SELECT count(*) FROM conversations) + (SELECT count(*) FROM keys) + (SELECT count(*) FROM messages)
$$;
REVOKE ALL ON FUNCTION toolfold.remove_expired() FROM PUBLIC;
