SELECT number, body FROM approval
    WHERE CASE WHEN json_valid(body) THEN json_extract(body, '$.request.session') END = ?1
    AND CASE WHEN json_valid(body) THEN json_extract(body, '$.request.call_id') END = ?2
    AND state <> 'expired' ORDER BY number
