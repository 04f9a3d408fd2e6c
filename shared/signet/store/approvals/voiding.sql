-- name: void_requests
-- Void what people were asked, and what they have approved but no gate has used. They are told, once about each request.
SELECT void_approval_requests(%(rows)s::json, %(now)s)
