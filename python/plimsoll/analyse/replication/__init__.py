"""Systems with replicas: each server by role, lag, what another replica adds, what acknowledged commits cost."""
