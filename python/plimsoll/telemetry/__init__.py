"""What the machine and the server did while load ran: one sampler per file, each says what it costs."""
