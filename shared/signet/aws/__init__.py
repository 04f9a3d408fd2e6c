"""What is AWS, and nothing else knows: signed calls, wake-ups, secrets; and by boto3 what leaves the system.

The API and the engine send so little that they do it by plain signed HTTPS: loading boto3 costs a cold start
more than all of their own work.
"""
