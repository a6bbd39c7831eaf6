"""What can be done to tasks, agents and the hub. A verb passes the gate, decides, changes rows and journals, in one transaction."""
