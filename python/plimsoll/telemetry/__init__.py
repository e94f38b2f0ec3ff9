"""What the machine and the server did while load ran: samplers, each of which says what it costs."""
