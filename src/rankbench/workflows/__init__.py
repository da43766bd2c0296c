"""What commands do: functions that take a request and a progress and return a result."""
