"""Everything about AWS: signed calls, wake-ups and secrets, and effects by boto3.

The API and the engine send few requests, so they use plain signed HTTPS. Loading boto3 costs a cold start
more than all of their own work.
"""
