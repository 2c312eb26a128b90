"""From JAX: functions as programs of Ricci."""
